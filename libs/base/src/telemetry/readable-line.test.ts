import { expect, it } from 'vitest';
import { createLogger } from './log.ts';
import { readableLine } from './readable-line.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  const destination = { write: (text: string) => void lines.push(text) };
  write(createLogger({ name: 'kith', level: 'info', destination }));
  return lines.map(readableLine).join('');
}

it('a readable line shows the time, the level, the text and each further field', () => {
  const shown = logged((log) =>
    log.child({ service: 'identity' }).info({ took: { ms: 12 } }, 'service started'),
  );
  expect(shown).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} INFO kith: service started\n {4}service: identity\n {4}took: \{ ms: 12 \}\n$/,
  );
});

it('a readable line shows an error with its stack and the stacks of its causes, but no other field of the error', () => {
  const cause = Object.assign(new TypeError('not a number'), { input: 'secret' });
  const shown = logged((log) => log.error({ err: new Error('cannot start', { cause }) }, 'failed'));
  const lines = shown.split('\n');
  expect(lines[0]).toMatch(/ ERROR kith: failed$/);
  expect(lines[1]).toBe('    Error: cannot start');
  expect(lines[2]).toMatch(/^ {8}at /);
  expect(lines).toContain('    caused by TypeError: not a number');
  expect(shown).not.toContain('secret');
});

it('a readable line shows the first errors of an aggregate', () => {
  const errors = Array.from({ length: 9 }, (_, at) =>
    Object.assign(new Error(`refused ${at}`), { input: 'secret' }),
  );
  const shown = logged((log) =>
    log.warn({ err: new AggregateError(errors, '9 users not erased yet') }, 'failed'),
  );
  expect(shown).toContain('AggregateError: 9 users not erased yet');
  expect(shown).toContain('    caused by Error: refused 0');
  expect(shown).toContain('    caused by Error: refused 4');
  expect(shown).not.toMatch(/refused 5|secret/);
});

it('a log entry without further fields is one readable line', () => {
  expect(logged((log) => log.warn('limits are counted in memory'))).toMatch(/^\S+ WARN kith: [a-z ]+\n$/);
});
