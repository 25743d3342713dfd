// Measures the database driver alone, without Kith. Goes through the users in the order of the load, with AT_ONCE users at a
// time. For each user, makes the queries that one page of connections needs. Prints the figures as JSON.
import { readFileSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { percentile } from '../summary.ts';
import { pageQueries } from './queries.ts';

const { MONGODB_URL = '', DATABASE = '', OWNERS_FILE = '', AT_ONCE = '32', SECONDS = '5' } = process.env;
const owners = JSON.parse(readFileSync(OWNERS_FILE, 'utf8')) as { projectId: string; userId: string }[];
const client = new MongoClient(MONGODB_URL, { maxPoolSize: 100 });
const db = client.db(DATABASE);
const times: number[] = [];
let at = 0;

await Promise.all(Array.from({ length: Number(AT_ONCE) }, () => pageQueries(db, owners[0]!)));
const started = performance.now();
const until = started + Number(SECONDS) * 1_000;
await Promise.all(
  Array.from({ length: Number(AT_ONCE) }, async () => {
    while (performance.now() < until) {
      const began = performance.now();
      await pageQueries(db, owners[at++ % owners.length]!);
      times.push(performance.now() - began);
    }
  }),
);
const seconds = (performance.now() - started) / 1_000;
await client.close();
times.sort((a, b) => a - b);
const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
process.stdout.write(`${JSON.stringify({ rps: times.length / seconds, p50, p99 })}\n`);
