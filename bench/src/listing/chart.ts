/** A line of a chart, with a time in ms for each length. */
export interface Line {
  title: string;
  points: readonly { size: number; ms: number }[];
  isDashed: boolean;
  /** The index of the line's colour. */
  colour: number;
}

/** One of the panels of the chart, with the lines of one engine. */
export interface Field {
  title: string;
  lines: readonly Line[];
}

const width = 380;
const height = 220;
const left = 56;
const top = 56;
const gap = 72;
const decades = { from: 2, to: 6 };

/**
 * Draws how long it takes to get a page, for each length of the page's list. The axis of lengths is logarithmic, and the axis
 * of times begins at zero. The image has light and dark colours and follows the reader's system, so it is readable on light and
 * dark pages.
 */
export function chart(fields: readonly Field[], caption: string): string {
  const titles = [
    ...new Map(fields.flatMap(({ lines }) => lines).map((line) => [line.title, line])).values(),
  ];
  const legendTop = top + height + 62;
  const total = {
    width: left + fields.length * (width + gap),
    height: legendTop + Math.ceil(titles.length / 2) * 20 + 4,
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total.width} ${total.height}" width="${total.width}" height="${total.height}" role="img" aria-label="${caption}">`,
    `<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}.faint{fill:#59636e;font-size:12px}.grid{stroke:#d1d9e0}.title{font-weight:600}
path,circle{fill:none;stroke-width:2}.dashed{stroke-dasharray:5 4}
.c0{stroke:#0969da}.c1{stroke:#bc4c00}.c2{stroke:#1a7f37}.c3{stroke:#8250df}.c4{stroke:#bf3989}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.faint{fill:#9198a1}.grid{stroke:#3d444d}
.c0{stroke:#4493f8}.c1{stroke:#db6d28}.c2{stroke:#3fb950}.c3{stroke:#ab7df8}.c4{stroke:#db61a2}}
</style>`,
    `<text x="${left}" y="20" class="title">${caption}</text>`,
    ...fields.map((field, at) => drawField(field, left + at * (width + gap))),
    // Two columns: the names of the solid lines, and beside them the names of the dashed lines.
    ...titles.map((line, at) =>
      drawName(line, left + (at % 2) * (width + gap), legendTop + Math.floor(at / 2) * 20),
    ),
    '</svg>',
    '',
  ].join('\n');
}

function drawField({ title, lines }: Field, x: number): string {
  const most = Math.max(...lines.flatMap(({ points }) => points.map(({ ms }) => ms)));
  const step = niceStep(most / 3);
  const ceiling = step * Math.ceil((most * 1.15) / step);
  const at = (size: number) =>
    round(x + (width * (Math.log10(size) - decades.from)) / (decades.to - decades.from));
  const level = (ms: number) => round(top + height - (height * ms) / ceiling);
  const parts = [`<text x="${x}" y="${top - 12}">${title}</text>`];
  for (let ms = 0; ms <= ceiling + step / 2; ms += step) {
    const y = level(ms);
    parts.push(`<line class="grid" x1="${x}" x2="${x + width}" y1="${y}" y2="${y}"/>`);
    parts.push(`<text class="faint" x="${x - 6}" y="${y + 4}" text-anchor="end">${round(ms)} ms</text>`);
  }
  for (let power = decades.from; power <= decades.to; power++) {
    const label = (10 ** power).toLocaleString('en');
    parts.push(
      `<text class="faint" x="${at(10 ** power)}" y="${top + height + 20}" text-anchor="middle">${label}</text>`,
    );
  }
  parts.push(
    `<text class="faint" x="${x + width / 2}" y="${top + height + 40}" text-anchor="middle">rows in the list</text>`,
  );
  for (const { points, isDashed, colour } of lines) {
    const path = points.map(({ size, ms }, index) => `${index === 0 ? 'M' : 'L'}${at(size)} ${level(ms)}`);
    parts.push(`<path class="c${colour}${isDashed ? ' dashed' : ''}" d="${path.join('')}"/>`);
    for (const { size, ms } of points) {
      parts.push(`<circle class="c${colour}" cx="${at(size)}" cy="${level(ms)}" r="2"/>`);
    }
  }
  return parts.join('\n');
}

function drawName({ title, isDashed, colour }: Line, x: number, y: number): string {
  const style = `c${colour}${isDashed ? ' dashed' : ''}`;
  return `<path class="${style}" d="M${x} ${y - 4}h32"/><text x="${x + 42}" y="${y}">${title}</text>`;
}

/** The smallest number that is 1, 2 or 5 times a power of ten and not below `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((digit) => digit * power >= least) ?? 10);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
