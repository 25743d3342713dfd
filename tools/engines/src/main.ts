// Gets the engines onto this machine and prints the *_IMAGE lines that docker-compose reads from .env.
import { imageVariables } from './images.ts';
import { provideEngines } from './provide.ts';

// Docker is what is asked for here, whatever the environment points at.
const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
const found = await provideEngines({ env, progress: (line) => process.stderr.write(`${line}\n`) });
if (found.kind === 'docker') {
  process.stdout.write(`${imageVariables(found.images)}\n`);
} else {
  process.stderr.write(`${found.kind === 'none' ? found.reason : 'The engines are given by URLs'}\n`);
  process.exitCode = 1;
}
