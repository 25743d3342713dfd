/** The names of the streams that hold a prefix's events and its dead letters. */
export function streamNames(prefix: string): { events: string; dead: string } {
  const base = prefix.toUpperCase().replaceAll(/[^A-Z0-9_-]/g, '_');
  return { events: `${base}_EVENTS`, dead: `${base}_DEAD` };
}
