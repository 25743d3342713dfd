import { Gauge, type Registry } from 'prom-client';

type Labels = Record<string, string>;
type Read = () => number | undefined | Promise<number | undefined>;

const patienceMs = 1_000;

/**
 * A gauge that reads its values at each scrape. If it cannot read a value within a second, it reports the fallback that was
 * given to `watch`. Without a fallback, it leaves the value out.
 */
export class LiveGauge {
  readonly #watched = new Set<{ labels: Labels; read: Read; otherwise: number | undefined }>();

  constructor(options: { name: string; help: string; labelNames?: string[]; registers: Registry[] }) {
    const watched = this.#watched;
    new Gauge({
      labelNames: [],
      ...options,
      async collect() {
        const read = await Promise.all(
          [...watched].map(async ({ labels, read, otherwise }) => ({
            labels,
            value: (await readInTime(read)) ?? otherwise,
          })),
        );
        this.reset();
        // Several parts of a process may watch a value under the same labels. The gauge reports the largest of these values.
        const largest = new Map<string, { labels: Labels; value: number }>();
        for (const { labels, value } of read) {
          const key = JSON.stringify(labels);
          if (value === undefined || value < (largest.get(key)?.value ?? Number.NEGATIVE_INFINITY)) continue;
          largest.set(key, { labels, value });
        }
        for (const { labels, value } of largest.values()) this.set(labels, value);
      },
    });
  }

  /**
   * From now on, reads a value at each scrape. If the value cannot be read, reports `otherwise`, or nothing if `otherwise` is
   * not given. Returns a function that stops the reading.
   */
  watch(labels: Labels, read: Read, otherwise?: number): () => void {
    const one = { labels, read, otherwise };
    this.#watched.add(one);
    return () => void this.#watched.delete(one);
  }
}

async function readInTime(read: Read): Promise<number | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs);
  });
  try {
    return await Promise.race([read(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
