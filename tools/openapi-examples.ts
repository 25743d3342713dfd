// Records libs/openapi/examples on a platform of its own: a request and its answer for every operation. `npm run generate` runs
// this script, and then tools/openapi.ts, which puts the examples into the OpenAPI document.
import { writeFileSync } from 'node:fs';
import { operations, serviceOf } from '@kith/contracts';
import { startPlatform } from '@kith/testing';
import { Recorder } from './openapi-examples/recorder.ts';
import { makeStable } from './openapi-examples/stable.ts';
import { tellStory } from './openapi-examples/story.ts';

await using platform = await startPlatform();
const recorder = new Recorder(platform.url);
await tellStory(recorder, platform.operatorToken, platform);

const missing = operations.filter(({ name, kind }) => kind !== 'stream' && !recorder.examples[name]);
for (const { name } of missing) console.error(`The story does not call ${name}`);
if (missing.length > 0) process.exitCode = 1;
else {
  // One call makes all examples stable, so that an id is the same in all examples.
  const { projectId, examples } = makeStable(recorder, recorder.begins) as Pick<
    Recorder,
    'projectId' | 'examples'
  >;
  console.log(`project ${projectId}`);
  const services = Object.groupBy(Object.entries(examples), ([name]) => serviceOf({ name }));
  for (const [service, entries = []] of Object.entries(services)) {
    const file = new URL(`../libs/openapi/examples/${service}.json`, import.meta.url);
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries.toSorted()), null, 2)}\n`);
  }
}
