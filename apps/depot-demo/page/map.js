// One map: the state that one party knows. It is drawn from the newest message and nothing else, so a fault on the map
// is a fault of that state. Coordinates are metres with y up; the canvas flips them.

import { fit } from './charts.js';
import { paintHall } from './floor.js';
import { Parcels } from './parcels.js';

export const kColours = { A: '#ffb454', B: '#5cc8ff', server: '#8fdcab', bot: '#8b93a7' };

const kTrailMs = 1200;
const kFlashMs = 350;
const kAskedMs = 8000;
const kManyParcels = 2000, kPointScale = 5;  // below so many pixels per metre, so many parcels are drawn as points
const kTinyMap = 0.27;  // width of the overview that is shown while zoomed, as a share of the map

const calm = window.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;

const finite = (...values) => values.every(Number.isFinite);
const list = (value) => (Array.isArray(value) ? value : []);

export class HallMap {
  /** `name` is A, B or server. */
  constructor(canvas, name) {
    this.canvas = canvas;
    this.name = name;
    this.trail = [];
    this.flash = { at: -Infinity, ticks: 0 };
    this.parcels = new Parcels();
    this.asked = null;
  }

  setArena(arena) {
    this.arena = arena;
    this.floor = this.tinyFloor = null;
    this.trail.length = 0;
  }

  /** Draws the floor of a window, in metres from the left and from the top. The painted region is larger, for a while of walking. */
  drawFloor(context, scale, ratio, window_) {
    const rounding = 1e-6;
    const inside = (f) => f && f.scale === scale * ratio && f.x <= window_.x + rounding && f.y <= window_.y + rounding &&
      f.x + f.w >= window_.x + window_.w - rounding && f.y + f.h >= window_.y + window_.h - rounding;
    if (!inside(this.floor)) {
      const x = Math.max(0, window_.x - window_.w / 2), y = Math.max(0, window_.y - window_.h / 2);
      const region = { x, y, w: Math.min(this.arena.w - x, window_.w * 2), h: Math.min(this.arena.h - y, window_.h * 2) };
      this.floor = { ...region, scale: scale * ratio, canvas: paintHall(this.arena, scale * ratio, region) };
    }
    const { x, y, canvas } = this.floor;
    context.drawImage(canvas, (x - window_.left) * scale, (y - window_.top) * scale, canvas.width / ratio, canvas.height / ratio);
  }

  /**
   * view: objects, ghost, focus {x, y} for the camera, metres (across the map; 0: the whole hall), overlay, peers (peer id to A or B), rtt_ms, now (ms),
   * predicts (this client predicts its pawn; otherwise there is no path ahead),
   * others (client name to {x, y}: where each client predicts its pawn; on the server's map only),
   * eyes (client name to {x, y}: from where each client sees), crowd ([id, x, y, …] in centimetres: pawns drawn small).
   */
  draw(view) {
    if (!this.arena) return;
    const { context, width, height, ratio } = fit(this.canvas);
    if (!width || !height) return;
    const { w, h } = this.arena;
    const whole = Math.min(width / w, height / h);
    const scale = view.metres > 0 ? Math.max(whole, width / view.metres) : whole;
    const across = width / scale, up = height / scale;
    const focus = view.focus ?? { x: w / 2, y: h / 2 };
    const left = across >= w ? (w - across) / 2 : clamp(focus.x - across / 2, 0, w - across);
    const bottom = up >= h ? (h - up) / 2 : clamp(focus.y - up / 2, 0, h - up);
    const px = (x) => (x - left) * scale;
    const py = (y) => height - (y - bottom) * scale;

    context.fillStyle = '#07090c';
    context.fillRect(0, 0, width, height);
    const top = h - bottom - up;
    this.drawFloor(context, scale, ratio, {
      left, top, x: Math.max(0, left), y: Math.max(0, top), w: Math.min(across, w), h: Math.min(up, h),
    });
    this.window = { left, bottom, across, up, scale };
    const pen = { context, px, py, scale, view };
    this.drawBelts(pen);
    const objects = list(view.objects).filter((o) => o && finite(o.x, o.y));
    for (const o of objects) if (o.kind === 'door') this.drawDoor(pen, o);
    if (scale < kPointScale && this.parcels.count > kManyParcels) {
      this.parcels.drawLayer(context, { left: px(0), top: py(h), scale, ratio, w, h }, view.now);
    } else {
      this.parcels.draw(pen, this.window);
    }
    for (const o of objects) if (o.kind === 'pickup') this.drawPickup(pen, o);
    this.drawCrowd(pen);
    this.drawSight(pen, width, height);
    if (view.overlay) this.drawOverlay(pen, objects);
    for (const o of objects) if (o.kind === 'pawn') this.drawPawn(pen, o);
    for (const o of objects) if (o.kind === 'projectile') this.drawProjectile(pen, o);
    this.drawFlash(pen, objects);
    this.drawAsked(pen);
    if (scale > whole) this.drawTinyMap(context, width, height, objects, view, this.window);
  }

  /** What a client may see: the world out of its sight is dark on its own map, and an outline on the server's. */
  drawSight({ context, px, py, scale, view }, width, height) {
    const sight = this.arena.sight;
    if (!finite(sight?.radius, sight?.leave)) return;
    context.save();
    for (const [name, eye] of Object.entries(view.eyes ?? {})) {
      if (!eye || !finite(eye.x, eye.y) || (this.name !== 'server' && this.name !== name)) continue;
      const circle = (radius) => context.arc(px(eye.x), py(eye.y), radius * scale, 0, 2 * Math.PI);
      if (this.name === name) {
        context.fillStyle = 'rgba(3, 5, 8, .5)';
        context.beginPath();
        context.rect(0, 0, width, height);
        circle(sight.leave);
        context.fill('evenodd');
      }
      context.strokeStyle = kColours[name];
      context.lineWidth = 1.4;
      context.globalAlpha = 0.8;
      context.beginPath();
      circle(sight.radius);
      context.stroke();
      context.globalAlpha = 0.4;
      context.setLineDash([3, 4]);
      context.beginPath();
      circle(sight.leave);
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 1;
    }
    context.restore();
  }

  drawCrowd({ context, px, py, scale, view }) {
    const crowd = list(view.crowd);
    context.fillStyle = kColours.bot;
    const size = Math.max(2, scale * 0.7);
    for (let i = 0; i + 2 < crowd.length; i += 3) {
      context.fillRect(px(crowd[i + 1] / 100) - size / 2, py(crowd[i + 2] / 100) - size / 2, size, size);
    }
  }

  /** The point of the hall under a point of the page. */
  placeOf(clientX, clientY) {
    if (!this.window) return null;
    const box = this.canvas.getBoundingClientRect();
    const { left, bottom, up, scale } = this.window;
    return { x: left + (clientX - box.left) / scale, y: bottom + up - (clientY - box.top) / scale };
  }

  /** The object that is drawn nearest to a place, within 1.5 m or 12 pixels; null when there is none. */
  objectAt(place, objects) {
    let best = null, least = Math.max(1.5, 12 / this.window.scale) ** 2;
    const consider = (id, x, y) => {
      const gap = (x - place.x) ** 2 + (y - place.y) ** 2;
      if (gap < least) [best, least] = [{ id, x, y }, gap];
    };
    this.parcels.forEach(consider);
    for (const o of list(objects)) if (o && finite(o.x, o.y)) consider(o.id, o.x, o.y);
    return best;
  }

  drawAsked({ context, px, py, scale, view }) {
    if (!this.asked || view.now - this.asked.at > kAskedMs) return;
    context.save();
    context.strokeStyle = '#ffffff';
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.arc(px(this.asked.x), py(this.asked.y), Math.max(9, scale * 0.9), 0, 2 * Math.PI);
    context.stroke();
    context.restore();
  }

  drawBelts({ context, px, py, scale, view }) {
    context.strokeStyle = 'rgba(120, 145, 175, .5)';
    context.lineWidth = Math.max(1, scale * 0.11);
    for (const belt of list(this.arena.belts)) {
      if (!finite(belt.x0, belt.y0, belt.x1, belt.y1)) continue;
      const along = Math.abs(belt.dx) >= Math.abs(belt.dy);
      const speed = (along ? belt.dx : belt.dy) || 0;
      const sign = Math.sign(speed) || 1;
      const length = along ? belt.x1 - belt.x0 : belt.y1 - belt.y0;
      const middle = along ? (belt.y0 + belt.y1) / 2 : (belt.x0 + belt.x1) / 2;
      const half = (along ? belt.y1 - belt.y0 : belt.x1 - belt.x0) * 0.24;
      const spacing = 2.4;
      const shift = calm ? 0 : ((view.now / 1000) * Math.abs(speed)) % spacing;
      for (let at = shift; at < length; at += spacing) {
        const tip = sign > 0 ? at : length - at;
        const tail = tip - sign * 0.7;
        if (tip > length || tip < 0 || tail < 0 || tail > length) continue;
        const point = (a, b) => (along ? [px(belt.x0 + a), py(middle + b)] : [px(middle + b), py(belt.y0 + a)]);
        context.beginPath();
        context.moveTo(...point(tail, half));
        context.lineTo(...point(tip, 0));
        context.lineTo(...point(tail, -half));
        context.stroke();
      }
    }
  }

  drawDoor({ context, px, py, scale }, door) {
    const boxes = list(this.arena.doors);
    const box = boxes[door.index] ?? boxes.find((b) => Math.hypot((b[0] + b[2]) / 2 - door.x, (b[1] + b[3]) / 2 - door.y) < 1)
      ?? [door.x - 0.5, door.y - 1.5, door.x + 0.5, door.y + 1.5];
    const open = doorIsOpen(door);
    const [x, y, w, h] = [px(box[0]), py(box[3]), (box[2] - box[0]) * scale, (box[3] - box[1]) * scale];
    context.strokeStyle = open ? 'rgba(143, 220, 171, .8)' : '#d98a5b';
    context.lineWidth = 1.2;
    if (open) {
      const upright = h >= w;
      context.fillStyle = 'rgba(143, 220, 171, .55)';
      // The leaf of the door has slid into the walls, but its ends still show.
      if (upright) {
        context.fillRect(x, y, w, h * 0.12);
        context.fillRect(x, y + h * 0.88, w, h * 0.12);
      } else {
        context.fillRect(x, y, w * 0.12, h);
        context.fillRect(x + w * 0.88, y, w * 0.12, h);
      }
    } else {
      context.fillStyle = '#7a4a30';
      context.fillRect(x, y, w, h);
      context.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1, 0), Math.max(h - 1, 0));
    }
  }

  drawPickup({ context, px, py, scale }, pickup) {
    if (pickup.taken === true || pickup.state === 'taken' || pickup.state?.taken === true) return;
    const size = Math.max(5, scale * 0.6);
    context.save();
    context.translate(px(pickup.x), py(pickup.y));
    context.fillStyle = '#b08a5a';
    context.fillRect(-size / 2, -size / 2, size, size);
    context.fillStyle = 'rgba(255, 240, 210, .55)';
    context.fillRect(-size * 0.09, -size / 2, size * 0.18, size);
    context.restore();
  }

  drawOverlay(pen, objects) {
    const { context, px, py, scale, view } = pen;
    const own = objects.find((o) => o.own && o.kind === 'pawn');
    if (this.name !== 'server' && own && view.predicts) {
      this.extendTrail(own, view.now);
      this.drawTrail(pen);
    }
    if (view.ghost && finite(view.ghost.x, view.ghost.y)) {
      context.save();
      context.setLineDash([3, 2.5]);
      context.strokeStyle = '#e8edf4';
      context.lineWidth = 1.3;
      context.beginPath();
      context.arc(px(view.ghost.x), py(view.ghost.y), pawnRadius(scale) + 1.5, 0, 2 * Math.PI);
      context.stroke();
      context.restore();
    }
    for (const [name, at] of Object.entries(view.others ?? {})) {
      // On the server's map: the position that the client already predicts for itself, ahead by its round trip.
      if (!at || !finite(at.x, at.y)) continue;
      context.save();
      context.strokeStyle = kColours[name];
      context.globalAlpha = 0.75;
      context.setLineDash([2, 2]);
      context.lineWidth = 1.2;
      context.beginPath();
      context.arc(px(at.x), py(at.y), pawnRadius(scale) + 1.5, 0, 2 * Math.PI);
      context.stroke();
      context.restore();
    }
  }

  extendTrail(own, now) {
    const last = this.trail[this.trail.length - 1];
    const jumped = last && (Math.hypot(last.x - own.x, last.y - own.y) > 4 || now < last.at);
    if (jumped) this.trail.length = 0;
    if (!last || jumped || last.x !== own.x || last.y !== own.y) this.trail.push({ x: own.x, y: own.y, at: now });
    while (this.trail.length && this.trail[0].at < now - kTrailMs) this.trail.shift();
  }

  /** The way since the last acknowledged state is predicted and solid. The confirmed way before it fades. */
  drawTrail({ context, px, py, scale, view }) {
    const unconfirmed = view.now - (Number.isFinite(view.rtt_ms) ? view.rtt_ms : 100);
    context.save();
    context.strokeStyle = kColours[this.name];
    context.lineCap = 'round';
    for (let i = 1; i < this.trail.length; i++) {
      const from = this.trail[i - 1], to = this.trail[i];
      const predicted = to.at >= unconfirmed;
      context.globalAlpha = predicted ? 0.95 : 0.45 * Math.max(0, 1 - (view.now - to.at) / kTrailMs);
      context.lineWidth = predicted ? Math.max(1.6, scale * 0.16) : 1.2;
      context.beginPath();
      context.moveTo(px(from.x), py(from.y));
      context.lineTo(px(to.x), py(to.y));
      context.stroke();
    }
    context.restore();
  }

  drawPawn({ context, px, py, scale, view }, pawn) {
    const x = px(pawn.x), y = py(pawn.y), radius = pawnRadius(scale);
    const player = pawn.own ? this.name : view.peers?.[String(pawn.owner)];
    const colour = pawn.bot ? kColours.bot : kColours[player] ?? '#cbd3df';
    const state = typeof pawn.state === 'object' && pawn.state ? pawn.state : {};
    if (player) {
      const glow = context.createRadialGradient(x, y, radius * 0.5, x, y, radius * 4);
      glow.addColorStop(0, `${colour}55`);
      glow.addColorStop(1, `${colour}00`);
      context.fillStyle = glow;
      context.fillRect(x - radius * 4, y - radius * 4, radius * 8, radius * 8);
    }
    context.fillStyle = colour;
    context.strokeStyle = '#06080b';
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    this.drawFacing(context, x, y, radius, pawn, state);
    if (pawn.state === 'stunned' || state.stunned) ring(context, x, y, radius + 2, '#ff7a6b');
    if (pawn.state === 'dashing' || state.dashing) ring(context, x, y, radius + 2, '#ffffff');
    const carried = pawn.carried ?? state.carried;
    if (carried && carried !== 'none') {
      context.fillStyle = '#b08a5a';
      context.fillRect(x - radius * 0.45, y - radius * 0.45, radius * 0.9, radius * 0.9);
    }
    if (player) label(context, player, x, y - radius - 4, colour);
  }

  drawFacing(context, x, y, radius, pawn, state) {
    const facing = pawn.facing ?? state.facing;
    const dx = facing?.x ?? pawn.vx, dy = facing?.y ?? pawn.vy;
    const length = Math.hypot(dx, dy);
    if (!(length > 0.05)) return;
    context.strokeStyle = 'rgba(0, 0, 0, .7)';
    context.lineWidth = Math.max(1.3, radius * 0.28);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + (dx / length) * radius, y - (dy / length) * radius);
    context.stroke();
  }

  drawProjectile({ context, px, py, scale }, shot) {
    const radius = Math.max(2.2, scale * 0.15);
    if (finite(shot.vx, shot.vy)) {
      context.strokeStyle = 'rgba(255, 236, 150, .45)';
      context.lineWidth = radius;
      context.beginPath();
      context.moveTo(px(shot.x), py(shot.y));
      context.lineTo(px(shot.x - shot.vx * 0.06), py(shot.y - shot.vy * 0.06));
      context.stroke();
    }
    context.fillStyle = '#fff2b0';
    context.beginPath();
    context.arc(px(shot.x), py(shot.y), radius, 0, 2 * Math.PI);
    context.fill();
  }

  drawTinySight(context, view, left, top, tiny) {
    const radius = this.arena.sight?.radius;
    if (!finite(radius)) return;
    for (const [name, eye] of Object.entries(view.eyes ?? {})) {
      if (!eye || !finite(eye.x, eye.y) || (this.name !== 'server' && this.name !== name)) continue;
      context.strokeStyle = kColours[name];
      context.lineWidth = 1.2;
      context.beginPath();
      context.arc(left + eye.x * tiny, top + (this.arena.h - eye.y) * tiny, radius * tiny, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  rolledBack(now, ticks) {
    if (!calm) this.flash = { at: now, ticks };
  }

  drawFlash({ context, px, py, scale, view }, objects) {
    const age = view.now - this.flash.at;
    if (age < 0 || age > kFlashMs) return;
    const own = objects.find((o) => o.own && o.kind === 'pawn');
    if (!own) return;
    context.save();
    context.globalAlpha = 1 - age / kFlashMs;
    ring(context, px(own.x), py(own.y), pawnRadius(scale) + 4 + (age / kFlashMs) * 8, '#ff7a6b');
    if (this.flash.ticks > 0) label(context, `↺ ${this.flash.ticks}`, px(own.x), py(own.y) + pawnRadius(scale) + 14, '#ff7a6b');
    context.restore();
  }

  drawTinyMap(context, width, height, objects, view, window_) {
    const { w, h } = this.arena;
    const tiny = (width * kTinyMap) / w;
    const left = width - w * tiny - 6, top = height - h * tiny - 6;
    context.save();
    context.globalAlpha = 0.88;
    const ratio = globalThis.devicePixelRatio || 1;
    if (this.tinyFloor?.scale !== tiny * ratio) {
      this.tinyFloor = { scale: tiny * ratio, canvas: paintHall(this.arena, tiny * ratio, { x: 0, y: 0, w, h }) };
    }
    context.drawImage(this.tinyFloor.canvas, left, top, w * tiny, h * tiny);
    context.globalAlpha = 1;
    this.parcels.drawLayer(context, { left, top, scale: tiny, ratio, w, h }, view.now);
    this.drawTinySight(context, view, left, top, tiny);
    context.strokeStyle = '#4a5768';
    context.lineWidth = 1;
    context.strokeRect(left, top, w * tiny, h * tiny);
    for (const o of objects) {
      if (o.kind !== 'pawn') continue;
      const player = o.own ? this.name : view.peers?.[String(o.owner)];
      context.fillStyle = o.bot ? kColours.bot : kColours[player] ?? '#cbd3df';
      const size = player ? 4 : 2.5;
      context.fillRect(left + o.x * tiny - size / 2, top + (h - o.y) * tiny - size / 2, size, size);
    }
    context.strokeStyle = 'rgba(232, 237, 244, .7)';
    context.strokeRect(left + Math.max(window_.left, 0) * tiny, top + (h - Math.min(window_.bottom + window_.up, h)) * tiny,
      Math.min(window_.across, w) * tiny, Math.min(window_.up, h) * tiny);
    context.restore();
  }
}

const pawnRadius = (scale) => Math.max(4, scale * 0.4);
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

function doorIsOpen(door) {
  if (typeof door.open === 'boolean') return door.open;
  if (typeof door.state === 'string') return door.state === 'open';
  return Boolean(door.state?.open);
}

function ring(context, x, y, radius, colour) {
  context.strokeStyle = colour;
  context.lineWidth = 1.6;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}

function label(context, text, x, y, colour) {
  context.font = '600 11px system-ui, "DejaVu Sans", sans-serif';
  context.textAlign = 'center';
  context.lineWidth = 3;
  context.strokeStyle = 'rgba(6, 8, 11, .85)';
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
