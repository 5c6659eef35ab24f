// A click on a map asks the server why a client has the object there, has it late, or does not have it at all. The
// question goes by the object's id, or by its place when the map does not know it: the server knows every object.

const kNames = { A: ['A'], B: ['B'], server: ['A', 'B'] };

export class Why {
  /** `state()` gives the newest state, with the objects of each party. */
  constructor(element, maps, send, state) {
    this.maps = maps;
    this.send = send;
    this.rows = {};
    for (const name of ['A', 'B']) {
      this.rows[name] = element.querySelector(`[data-why="${name}"]`);
    }
    for (const [party, map] of Object.entries(maps)) {
      map.canvas.addEventListener('click', (event) => this.ask(party, map.placeOf(event.clientX, event.clientY), state()));
    }
  }

  ask(party, place, state) {
    if (!place) return;
    const objects = party === 'server' ? state?.server?.objects : state?.clients?.[party]?.objects;
    const found = this.maps[party].objectAt(place, objects);
    const at = found ?? place;
    for (const map of Object.values(this.maps)) map.asked = { x: at.x, y: at.y, at: performance.now() };
    for (const name of ['A', 'B']) this.tell(name, kNames[party].includes(name) ? '…' : '');
    for (const client of kNames[party]) this.send({ why: { client, x: at.x, y: at.y, ...(found ? { id: found.id } : {}) } });
  }

  /** Takes the server's answers: [{"client","kind","text"}]. */
  answer(answers) {
    if (!Array.isArray(answers)) return;
    for (const { client, kind, text } of answers) {
      if (this.rows[client]) this.tell(client, kind ? `${kind}: ${text}` : String(text));
    }
  }

  tell(name, text) {
    this.rows[name].querySelector('span').textContent = text;
    this.rows[name].hidden = !text;
  }
}
