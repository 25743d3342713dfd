// A suite's process: starts a platform, tells where it is, and waits for its end.
import { type EngineKind, startPlatform } from '../../src/index.ts';

const platform = await startPlatform({ engine: process.argv[2] as EngineKind });
const user = await platform.createUser();
const { dataFolder, prefix, url } = platform;
process.send?.({ folder: dataFolder.replace(/\/data$/, ''), prefix, url, userId: user.id });
setInterval(() => {}, 60_000);
