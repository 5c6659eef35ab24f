// The style sheet's colours for drawing on canvases. They follow the system's light or dark mode.

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
