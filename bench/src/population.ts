import { generateKeyPairSync } from 'node:crypto';
import { exportJWK, type JWK, SignJWT } from 'jose';
import { seeded, seededUuid, zipf } from './random.ts';

/** A user whose requests are part of the load. */
export interface Person {
  userId: string;
  projectId: string;
  token: string;
}

/** One request of the load: the user who asks, and the client's address. */
export interface Asked {
  person: Person;
  /** The client's address, as a proxy in front of the gateway would report it. */
  address: string;
}

export interface Population {
  people: readonly Person[];
  addresses: readonly string[];
  /** The requests of the load, in this order. After the last request, the load begins again with the first. */
  requests: readonly Asked[];
  /** The key that verifies the tokens. */
  publicKey: string;
  jwk: JWK;
}

export const issuer = 'kith';
export const audience = 'kith.dev';
const kid = 'bench';

/**
 * Makes 1,000 users in 100 projects. Their requests come from 500 addresses. Users and addresses are picked by Zipf's law, so
 * that caches fill as in real use. The ids, and the order of the requests, are the same in every run, but the keys and tokens
 * differ.
 */
export async function makePopulation(
  options: { users?: number; projects?: number; addresses?: number; requests?: number } = {},
): Promise<Population> {
  const { users = 1_000, projects = 100, addresses = 500, requests = 50_000 } = options;
  const random = seeded(7);
  const projectIds = Array.from({ length: projects }, () => seededUuid(random));
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const people = await Promise.all(
    Array.from({ length: users }, async (_, at): Promise<Person> => {
      const person = { userId: seededUuid(random), projectId: projectIds[at % projects] as string };
      const claims = { projectId: person.projectId, sid: seededUuid(random), role: 'user' };
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid })
        .setSubject(person.userId)
        .setJti(seededUuid(random))
        .setIssuedAt()
        .setExpirationTime('30m')
        .setIssuer(issuer)
        .setAudience(audience)
        .sign(privateKey);
      return { ...person, token };
    }),
  );
  const places = Array.from({ length: addresses }, (_, at) => `10.7.${at >> 8}.${at & 255}`);
  const person = zipf(users, random);
  const place = zipf(addresses, random);
  return {
    people,
    addresses: places,
    requests: Array.from({ length: requests }, () => ({
      person: people[person()] as Person,
      address: places[place()] as string,
    })),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' },
  };
}
