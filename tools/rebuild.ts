// `npm run rebuild -- <copy>`: `kith rebuild` by its older name.
import { runCommandLine } from '@kith/platform/cli';

process.exitCode = await runCommandLine(['rebuild', ...process.argv.slice(2)], process);
