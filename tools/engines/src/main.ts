// Gets the engines onto this machine, and prints the *_IMAGE lines that docker-compose reads from .env. If an image has a digest,
// its line contains the digest.
import { byDigest } from './docker.ts';
import { imageVariables } from './images.ts';
import { provideEngines, withoutUrls } from './provide.ts';

// This script always uses Docker, even if the environment names engines by URL.
const progress = (line: string) => process.stderr.write(`${line}\n`);
const found = await provideEngines({ env: withoutUrls(process.env), progress, imagesOnly: true });
if (found.kind === 'docker') {
  const { mongo, redis, nats, node } = found.images;
  const [ofMongo, ofRedis, ofNats, ofNode] = await Promise.all([mongo, redis, nats, node].map(byDigest));
  const images = {
    mongo: ofMongo ?? mongo,
    redis: ofRedis ?? redis,
    nats: ofNats ?? nats,
    node: ofNode ?? node,
  };
  process.stdout.write(`${imageVariables(images)}\n`);
} else {
  process.stderr.write(`${found.kind === 'none' ? found.reason : 'The engines are given by URLs'}\n`);
  process.exitCode = 1;
}
