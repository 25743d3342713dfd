import { parseArgs } from 'node:util';
import { wholeNumber } from '@kith/base';

const port = wholeNumber(0, 65_535);

/**
 * Reads the words behind `npm start --` and its like, and puts a port that is given into the environment, as PORT. Ends the
 * process where there is nothing to start: 0 once it has shown the help, 2 for words that nothing can be done with.
 *
 * @param command As it is typed, `npm start`.
 * @param help What it does, and what else there is to know.
 */
export function readOptions(command: string, help: string): void {
  try {
    const options = { port: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      process.stdout.write(textOf(command, help));
      process.exit(0);
    }
    if (positionals.length > 0) {
      throw new Error(
        `Unexpected argument: ${positionals[0]}; npm passes on only arguments after two dashes.`,
      );
    }
    if (values.port === undefined) return;
    const parsed = port.safeParse(values.port);
    if (!parsed.success) throw new Error(`--port: ${parsed.error.issues[0]?.message}.`);
    process.env.PORT = values.port;
  } catch (error) {
    const sentence = (error as Error).message.split('. ')[0]?.replace(/\.?$/, '.');
    process.stderr.write(`${command}: ${sentence} See ${command} -- --help.\n`);
    process.exit(2);
  }
}

function textOf(command: string, help: string): string {
  return `${command} -- [--port <number>]

${help}

  --port <number>  the port to listen on; the same as PORT
  --help           this text

README.md, "Configuration", lists the environment variables. Ctrl-C ends it.
`;
}
