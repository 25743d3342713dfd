import { Agent, request as httpRequest } from 'node:http';
import type { Person } from '../population.ts';

/**
 * Makes one request for each person, 32 at a time. Returns how many answers did not name the person who made the request. Under
 * load, wrk checks only the form of an answer. So this function checks that each person gets the right answer.
 */
export async function countForeignAnswers(url: string, people: readonly Person[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const answers = await Promise.all(people.map((person) => ask(url, person, agent)));
  agent.destroy();
  return answers.filter((isOwn) => !isOwn).length;
}

function ask(url: string, person: Person, agent: Agent): Promise<boolean> {
  const headers = {
    Authorization: `Bearer ${person.token}`,
    'X-Forwarded-For': '10.7.0.1',
    'X-User': person.userId,
  };
  return new Promise((resolve) => {
    const sent = httpRequest(`${url}/${person.projectId}/connections`, { agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        resolve(answer.statusCode === 200 && body.endsWith(`"viewer":"${person.userId}"}`));
      });
    });
    sent.on('error', () => resolve(false));
    sent.end();
  });
}
