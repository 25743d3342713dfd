// `npm run dead-letters -- list|replay <durable>`: `kith dead-letters` by its older name.
import { runCommandLine } from '@kith/platform/cli';

process.exitCode = await runCommandLine(['dead-letters', ...process.argv.slice(2)], process);
