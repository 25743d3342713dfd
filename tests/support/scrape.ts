/** One sample from `/metrics`. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** What processes report on `/metrics`: the metric names that they declare, and their samples. */
export interface Scrape {
  text: string;
  /** Declared names with their types. */
  types: Map<string, string>;
  samples: Sample[];
}

/** Scrapes processes, by the addresses of their internal ports. */
export async function scrape(urls: readonly string[]): Promise<Scrape> {
  const texts = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const text = texts.join('\n');
  const types = new Map<string, string>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) types.set(name, type);
  const lines = [...text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm)];
  const samples = lines.map(([, name = '', list = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, content]) => [label, content]),
    ),
    value: Number(value),
  }));
  return { text, types, samples };
}

/** The samples that have this name and these labels. */
export function samplesOf(from: Scrape, name: string, labels: Record<string, string> = {}): Sample[] {
  return from.samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
}
