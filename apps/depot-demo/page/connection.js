// The page's link to the demo process: one WebSocket at /ws that carries JSON text, one message per frame.
//
// Demo to page, once per connection:
//   {"hello":{"arena":{"w","h","walls":[[x0,y0,x1,y1]],"belts":[{"x0","y0","x1","y1","dx","dy"}],
//     "doors":[[x0,y0,x1,y1]],"bays":[[x0,y0,x1,y1]]},
//     "presets":[{"name","up":{"delay_ms","jitter_ms","loss_pct","duplicate_pct","reorder_pct"},"down":{…}}]}}
// Demo to page, about 30 times a second (metres, y up, counters since start):
//   {"t":ms,"server":{"tick","tick_p50_ms","tick_p99_ms","late_inputs","players","objects":[…]},
//    "clients":{"A":{"connected","peer","tick","rtt_ms","jitter_ms","loss_pct","up_pps","up_Bps","down_pps",
//     "down_Bps","snapshots","rollbacks","resim_ticks","error_mm","interp_delay_ms","underruns",
//     "input_margin_ticks","unacked_inputs","objects":[…],"ghost":{"x","y"},
//     "toggles":{"prediction","smoothing","interpolation"},
//     "impair":{"up":{"delay_ms",…},"down":{…}}},"B":{…}}}
//   object: {"id","kind":"pawn|projectile|door|pickup|belt","x","y","vx","vy","owner","bot","own","state"}
// Page to demo:
//   {"input":{"client":"A","x":-1|0|1,"y":-1|0|1,"dash","fire","use"}}       y 1 is up
//   {"impair":{"client","direction":"up|down","delay_ms","jitter_ms","loss_pct","duplicate_pct","reorder_pct"}}
//   {"toggle":{"client","prediction","smoothing","interpolation"}}
//   {"preset":{"client","name"}}
// Every field may be missing; the page then shows nothing for it.

const kRetryMs = 1000;

export class Connection {
  /** `handlers` has hello(object), state(object) and status(name); name is connecting, live or ended. */
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
    if (message.server || message.clients) this.handlers.state(message);
  }

  /** Sends one message; says whether the link took it. */
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
