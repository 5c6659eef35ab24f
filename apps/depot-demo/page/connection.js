// The page's link to the demo process: one WebSocket at /ws that carries JSON text, one message per frame.
//
// Demo to page, once per connection:
//   {"hello":{"arena":{"w","h","dock":[x0,y0,x1,y1],"sight":{"radius","leave"},"walls":[[x0,y0,x1,y1]],"belts":[{"x0","y0","x1","y1","dx","dy"}],
//     "doors":[[x0,y0,x1,y1]],"bays":[[x0,y0,x1,y1]]},
//     "presets":[{"name","up":{"delay_ms","jitter_ms","loss_pct","duplicate_pct","reorder_pct"},"down":{…}}]}}
// Demo to page, as soon as a party has sent a new report (each does 60 times a second). The message holds only the
// parties with a new report. Metres, y up; "t" in Unix milliseconds by the machine's one clock; counters since start:
//   {"t","heard":{"server":ms,"A":ms,"B":ms},            how long ago the demo last heard each party
//    "server":{"t","tick","tick_p50_ms","tick_p99_ms","players","joins","alive","bytes_sent",
//     "cap":{"bytes_per_s","bucket_bytes","most_bytes_per_s","recent_bytes_per_s"},"objects":[…],
//     "riding":[id, x, y, …],"resting":[…],"crowd":[…]},     now and then: parcels on belts, all others, further pawns; cm
//    "clients":{"A":{"t","connected","peer","tick","rtt_ms","jitter_ms","loss_up_pct","loss_down_pct","up_pps",
//     "up_Bps","down_pps","down_Bps","snapshots","rollbacks","resim_ticks","error_mm","interp_delay_ms",
//     "others_age_ms","inputs_late","underruns","input_margin_ticks","unacked_inputs","objects":[…],
//     "parcels":[id, x, y, …],                         twenty times a second; cm
//     "sight":{"objects","entered","left","destroyed"},
//     "types":[{"name","objects","bits"}],              twice a second: what came of each type since the connection began
//     "ghost":{"x","y"},"toggles":{"prediction","smoothing","interpolation"},"preset":"demo",
//     "impair":{"up":{"delay_ms",…},"down":{…}}},"B":{…}},
//    "why":[{"client","object","kind","text"}],           the server's answers
//    "press":{…}}                                         the last key press on its way to the screens (strip.js)
//   loss: of the last second. others_age_ms: the measured time from a server's tick to this client's picture of it.
//   object: {"id","kind":"pawn|projectile|door|pickup|belt","x","y","vx","vy","owner","bot","own","state"}
// Demo to page, when it ends:
//   {"ended":{"reason","exit_code"}}
// Page to demo:
//   {"input":{"client":"A","x":-1..1,"y":-1..1,"dash","fire","use"}}         y 1 is up
//     and, when a walking key went down: "press": an id of the press, "pressed_ms": when (Unix time)
//   {"impair":{"client","direction":"up|down","delay_ms","jitter_ms","loss_pct","duplicate_pct","reorder_pct"}}
//   {"toggle":{"client","prediction","smoothing","interpolation"}}
//   {"preset":{"client","name"}}                                             "none" is a perfect link
//   {"why":{"client","x","y","id"}}                                          why the client has this object, or not; without
//                                                                            an id: the one nearest to the place
//   {"shove":{"client"}}, {"disagree":{"client"}}                            the server makes the client mispredict
// Every field may be missing; the page then shows nothing for it.

const kRetryMs = 1000;

export class Connection {
  /** `handlers` has hello(object), state(object), ended(object) and status(name). Names: connecting, live, ended. */
  constructor(url, handlers) {
    this.url = url;
    this.handlers = handlers;
    this.wasLive = false;
    this.open();
  }

  open() {
    this.socket = new WebSocket(this.url);
    this.socket.onopen = () => {
      this.wasLive = true;
      this.handlers.status('live');
    };
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = () => {
      this.handlers.status(this.wasLive ? 'ended' : 'connecting');
      setTimeout(() => this.open(), kRetryMs);
    };
  }

  receive(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      console.warn('a message is not JSON', text.slice(0, 120));
      return;
    }
    if (message === null || typeof message !== 'object') return;
    if (message.hello) this.handlers.hello(message.hello);
    if (message.ended) this.handlers.ended(message.ended);
    if (message.server || message.clients || message.heard || message.why) this.handlers.state(message);
  }

  /** Sends one message. True when the link took it. */
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
