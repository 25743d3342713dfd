import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeMachine } from '@kith/bench/machine';
import { table } from '@kith/bench/row';
import { hasPassed, type Outcome } from './row.ts';

/** A row's outcome as a line of text, with the row's problems below. */
export function line(outcome: Outcome, judgesTimes: boolean): string {
  const { row, times, requests, acknowledged, unanswered, silence, readyMs, quietMs } = outcome;
  const problems = [
    ...(outcome.error ? [outcome.error] : []),
    ...named('lost', outcome.lost),
    ...named('doubled', outcome.doubled),
    ...named('wrong', outcome.wrong),
  ];
  const mark = hasPassed(outcome, judgesTimes) ? '✓' : '✗';
  const figures = [
    `${times} times`,
    `${requests} requests`,
    `${acknowledged} acknowledged`,
    `${unanswered} not served`,
    `silence ${seconds(silence.ms)}${silence.of && ` (${silence.of})`}`,
    `ready after ${seconds(readyMs)}`,
    `quiet after ${seconds(quietMs)}`,
  ];
  return [`${mark} ${row.name}: ${figures.join(', ')}`, ...problems.map((text) => `    ${text}`)].join('\n');
}

const shown = 8;

function named(what: string, all: readonly string[]): string[] {
  const rest = all.length > shown ? [`${what}: ${all.length - shown} more`] : [];
  return [...all.slice(0, shown).map((text) => `${what}: ${text}`), ...rest];
}

/** Writes docs/reliability.md. */
export function writeReport({
  outcomes,
  of,
  seed,
  rate,
}: {
  outcomes: readonly Outcome[];
  of: number;
  seed: number;
  rate: number;
}): void {
  const machine = describeMachine({}).filter(([what]) => !['wrk', 'OpenSSL'].includes(what));
  const rows = outcomes.map((outcome) => [
    outcome.row.title,
    outcome.times,
    outcome.rate,
    outcome.requests,
    outcome.acknowledged,
    outcome.unanswered,
    outcome.lost.length + outcome.wrong.length,
    outcome.doubled.length,
    seconds(outcome.silence.ms),
    seconds(outcome.readyMs),
    hasPassed(outcome, true) ? 'yes' : '**no**',
  ]);
  const head = [
    ...[
      'fault',
      'times',
      'requests a second',
      'requests',
      'acknowledged writes',
      'not served',
      'lost',
      'doubled',
      'longest silence',
    ],
    ...['all ready after', 'passed'],
  ];
  const missed = outcomes
    .filter((outcome) => !hasPassed(outcome, true))
    .map((outcome) => `- ${why(outcome)}`);
  const isWhole = outcomes.length === of;
  const text = `# Reliability

Written by \`npm run test:faults -- --write --seed ${seed} --rate ${rate}\`${isWhole ? '' : `, which ran only ${outcomes.length} of ${of} rows`}.
[faults/README.md](../faults/README.md) explains each column and how its figures are found.

${table(head, rows)}

${missed.length > 0 ? `Not passed:\n\n${missed.join('\n')}\n\n` : ''}Some faults need no load. Others depend on orders of events that a load rarely produces. The suites of \`npm test\` cause these
faults:

- failovers of a replica set at every step of settler and outbox ([a model of three
  members](../libs/store/tests/replica-set.test.ts)),
- errors among duplicates in a write of many documents ([failed writes](../libs/store/tests/failed-writes.test.ts)),
- files of the embedded form that are each in a different earlier state ([a machine's
  death](../tests/machine-death.test.ts)).

${table(['measured on', ''], machine)}
`;
  writeFileSync(fileURLToPath(new URL('../../docs/reliability.md', import.meta.url)), text);
}

/** The reason why a row has not passed, in a sentence. */
function why({ row, lost, doubled, wrong, silence, unanswered, error }: Outcome): string {
  const reasons = [
    ...(error ? [error.split('\n')[0]] : []),
    ...[...lost, ...doubled, ...wrong].slice(0, 3),
    ...(row.silenceMs !== undefined && silence.ms > row.silenceMs
      ? [`a silence of ${seconds(silence.ms)}, at most ${seconds(row.silenceMs)} is allowed`]
      : []),
    ...(row.servesAll && unanswered > 0 ? [`${unanswered} requests were not served`] : []),
  ];
  return `${row.title}: ${reasons.join('; ')}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
