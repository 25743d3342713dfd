// The process that a suite starts. It starts a platform, reports the platform's addresses, and waits until the suite ends it.
import { type EngineKind, startPlatform } from '../../src/index.ts';

const platform = await startPlatform({ engine: process.argv[2] as EngineKind });
const user = await platform.createUser();
const { dataFolder, prefix, url, internalUrls } = platform;
process.send?.({ folder: dataFolder.replace(/\/data$/, ''), prefix, url, internalUrls, userId: user.id });
setInterval(() => {}, 60_000);
