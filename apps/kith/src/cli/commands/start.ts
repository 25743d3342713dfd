import type { Command } from '../command.ts';
import { folderConfig } from '../data-folder.ts';

/** Starts the platform in this process, or with `--distributed` as several processes. */
export const startCommand: Command = {
  name: 'start',
  summary: 'start the platform',
  text: `Starts the whole platform in one process: the API at 127.0.0.1:8080, its reference at /docs, data in .kith. Unless
NODE_ENV is production, it creates a demo project and prints a request to paste. Ctrl-C or \`kith stop\`
ends it.

With --distributed each service is a process of its own. The services use the engines at MONGODB_URL, NATS_URL and REDIS_URL. If
none of the three is set, the command starts engines in Docker, with passwords and encrypted connections.

docs/configuration.md lists all environment variables.`,
  reads: folderConfig,
  options: {
    port: { value: 'NUMBER', text: 'the port to listen on; the same as PORT' },
    'plain-engines': {
      text: 'with --distributed: start engines without passwords and encryption, so that you can look into them',
    },
    distributed: { text: 'start each service as its own process, on MongoDB, NATS and Redis' },
  },
  isLong: true,
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runStart } = await import('../start/run-start.ts');
    return runStart(given, around);
  },
};
