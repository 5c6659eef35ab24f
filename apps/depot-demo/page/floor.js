// The parts of the warehouse that never move, drawn into a canvas of their own: a region of it at one scale.

// The distance of the lamps, whose pools of light make the floor a hall at night.
const kLampMetres = 10.7;

function paintFloor(context, arena, scale, sees) {
  const width = arena.w * scale, height = arena.h * scale;
  context.fillStyle = '#10141a';
  context.fillRect(0, 0, width, height);
  for (let x = kLampMetres / 2; x < arena.w; x += kLampMetres) {
    for (let y = kLampMetres / 2; y < arena.h; y += kLampMetres) {
      const radius = 7.5 * scale;
      if (!sees(x * scale - radius, y * scale - radius, 2 * radius, 2 * radius)) continue;
      const light = context.createRadialGradient(x * scale, y * scale, 0, x * scale, y * scale, radius);
      light.addColorStop(0, 'rgba(255, 232, 190, .17)');
      light.addColorStop(1, 'rgba(255, 236, 200, 0)');
      context.fillStyle = light;
      context.fillRect(x * scale - radius, y * scale - radius, 2 * radius, 2 * radius);
    }
  }
  context.strokeStyle = 'rgba(255, 255, 255, .035)';
  context.lineWidth = 1;
  context.beginPath();
  for (let x = 4; x < arena.w; x += 4) {
    context.moveTo(Math.round(x * scale) + 0.5, 0);
    context.lineTo(Math.round(x * scale) + 0.5, height);
  }
  for (let y = 4; y < arena.h; y += 4) {
    context.moveTo(0, Math.round(y * scale) + 0.5);
    context.lineTo(width, Math.round(y * scale) + 0.5);
  }
  context.stroke();
}

function paintBay(context, box) {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.w, box.h);
  context.clip();
  context.fillStyle = 'rgba(143, 220, 171, .10)';
  context.fillRect(box.x, box.y, box.w, box.h);
  context.strokeStyle = 'rgba(143, 220, 171, .22)';
  context.lineWidth = 3;
  context.beginPath();
  for (let at = -box.h; at < box.w; at += 10) {
    context.moveTo(box.x + at, box.y + box.h);
    context.lineTo(box.x + at + box.h, box.y);
  }
  context.stroke();
  context.restore();
}

function paintWall(context, box, scale, isRack) {
  context.fillStyle = isRack ? '#303a48' : '#445062';
  context.fillRect(box.x, box.y, box.w, box.h);
  if (isRack) {
    // Shelves: lines across the shorter side.
    context.fillStyle = 'rgba(0, 0, 0, .28)';
    const upright = box.h >= box.w;
    const length = upright ? box.h : box.w;
    for (let at = scale; at < length - 1; at += scale) {
      if (upright) context.fillRect(box.x + 1, box.y + at, box.w - 2, 1);
      else context.fillRect(box.x + at, box.y + 1, 1, box.h - 2);
    }
  }
  context.strokeStyle = isRack ? '#465263' : '#566375';
  context.lineWidth = 1;
  context.strokeRect(box.x + 0.5, box.y + 0.5, Math.max(box.w - 1, 0), Math.max(box.h - 1, 0));
}

/**
 * A canvas of a region of the hall at `scale` device pixels per metre. region: {x, y, w, h} in metres, y from the top of
 * the hall down.
 */
export function paintHall(arena, scale, region) {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.ceil(region.w * scale));
  canvas.height = Math.max(1, Math.ceil(region.h * scale));
  const context = canvas.getContext('2d');
  const left = region.x * scale, top = region.y * scale;
  context.translate(-left, -top);
  const sees = (x, y, w, h) => x < left + canvas.width && x + w > left && y < top + canvas.height && y + h > top;
  const place = (x0, y0, x1, y1) => ({
    x: Math.min(x0, x1) * scale,
    y: (arena.h - Math.max(y0, y1)) * scale,
    w: Math.abs(x1 - x0) * scale,
    h: Math.abs(y1 - y0) * scale,
  });
  paintFloor(context, arena, scale, sees);
  for (const bay of arena.bays ?? []) paintBay(context, place(...bay));
  for (const belt of arena.belts ?? []) {
    const box = place(belt.x0, belt.y0, belt.x1, belt.y1);
    context.fillStyle = '#1d2631';
    context.fillRect(box.x, box.y, box.w, box.h);
    context.strokeStyle = '#33404f';
    context.lineWidth = 1;
    context.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1);
  }
  for (const wall of arena.walls ?? []) {
    const box = place(...wall);
    if (!sees(box.x, box.y, box.w, box.h)) continue;
    const thin = Math.min(Math.abs(wall[2] - wall[0]), Math.abs(wall[3] - wall[1])) <= 1;
    paintWall(context, box, scale, !thin);
  }
  return canvas;
}
