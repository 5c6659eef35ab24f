// The style sheet's colours for what is drawn on canvases; follows the light or dark of the system.

const kNames = { A: '--a', B: '--b', server: '--server', text: '--text', dim: '--dim', line: '--line' };

export class Theme {
  constructor() {
    this.read();
    window.matchMedia?.('(prefers-color-scheme: dark)').addEventListener('change', () => this.read());
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(Object.entries(kNames).map(([name, variable]) => [name, style.getPropertyValue(variable).trim()]));
  }
}
