import { parseArgs } from 'node:util';

const help = `npm run example -- [--port <number>]

Starts the example application (examples/people) at localhost:5173, with its own platform and a few people in it. Set
KITH_URL and KITH_PROJECT to use a running platform instead.

  --port <number>  the port to listen on; the same as PORT
  --help           this text

Ctrl-C ends it.
`;

/**
 * Reads the words after `npm run example --`, and returns the port. If there is nothing to start, ends the process, with code 0 for
 * help and 2 for wrong words.
 */
export function readPort(): string | undefined {
  try {
    const { values } = parseArgs({
      options: { port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    if (!values.help) return values.port;
    process.stdout.write(help);
    process.exit(0);
  } catch (error) {
    const sentence = (error as Error).message.split('. ')[0]?.replace(/\.?$/, '.');
    process.stderr.write(`npm run example: ${sentence} See npm run example -- --help.\n`);
    process.exit(2);
  }
}
