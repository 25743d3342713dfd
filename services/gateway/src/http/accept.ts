/** A media range of an Accept header, and its quality. */
interface Range {
  type: string;
  quality: number;
}

const problem = 'application/problem+json';

/**
 * Whether a client wants errors as problems (RFC 9457). For this, the client has to name the media type of problems, and must
 * not prefer plain JSON. A wildcard does not count, because a client that sends a wildcard perhaps does not know this media
 * type.
 */
export function wantsProblem(accept: string | undefined): boolean {
  if (!accept?.toLowerCase().includes(problem)) return false;
  const ranges = rangesOf(accept);
  const named = qualityOf(ranges, [problem]);
  if (named === undefined || named === 0) return false;
  return named >= (qualityOf(ranges, ['application/json', 'application/*', '*/*']) ?? 0);
}

/**
 * Finds the first of `types` that the client lists, and returns its quality. `types` go from the most exact to the least exact
 * (RFC 9110 section 12.5.1).
 */
function qualityOf(ranges: readonly Range[], types: readonly string[]): number | undefined {
  for (const type of types) {
    const found = ranges.find((range) => range.type === type);
    if (found) return found.quality;
  }
  return undefined;
}

function rangesOf(accept: string): Range[] {
  return accept.split(',').map((text) => {
    const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { type, quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0 };
  });
}
