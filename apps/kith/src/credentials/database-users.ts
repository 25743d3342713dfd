import { StartError } from '@kith/base';
import type { MongoClient } from 'mongodb';
import { storingNames } from '../services.ts';

/** A user of the database server. */
export interface DatabaseUser {
  name: string;
  /** The databases that the user may read and write. The user may use no other database. */
  databases: readonly string[];
}

/**
 * The users of the databases. Each service that stores data has a user who may use only the database of that service. The user
 * `operator` is for backups, moves and restores.
 */
export function databaseUsers(prefix: string): DatabaseUser[] {
  const own = (service: string) => `${prefix}_${service}`;
  return [
    ...storingNames.map((service) => ({ name: service, databases: [own(service)] })),
    { name: 'operator', databases: storingNames.map(own) },
  ];
}

/** The role of a user in each of its databases, in MongoDB's terms. */
function rolesOf({ databases }: DatabaseUser): { role: 'readWrite'; db: string }[] {
  return databases.map((db) => ({ role: 'readWrite', db }));
}

/**
 * Makes the users on a server, as the server's root user. FerretDB has passwords but no roles, so on FerretDB each user may use
 * every database. Throws `StartError`.
 */
export async function ensureDatabaseUsers(options: {
  /** The server's address, with the root user's name and password. */
  url: string;
  /** The authority that signed the server's certificate, PEM. */
  ca?: string | undefined;
  prefix: string;
  passwordOf: (user: string) => string;
}): Promise<void> {
  const { url, ca, prefix, passwordOf } = options;
  // The driver is loaded only when this function runs, because the embedded form works without the driver (docs/adr/0043).
  const { MongoClient, MongoServerError } = await import('mongodb');
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3_000, ...(ca && { ca }) });
  try {
    await reached(client);
    const admin = client.db('admin');
    const hasRoles = !('ferretdb' in (await admin.command({ buildInfo: 1 })));
    for (const user of databaseUsers(prefix)) {
      const [pwd, roles] = [passwordOf(user.name), rolesOf(user)];
      try {
        await admin.command({ createUser: user.name, pwd, roles });
      } catch (error) {
        if (!(error instanceof MongoServerError) || !isThere(error)) throw error;
        await admin.command({ updateUser: user.name, pwd, ...(hasRoles && { roles }) });
      }
    }
  } catch (error) {
    throw new StartError(`The database's users cannot be made: ${(error as Error).message}.`, {
      cause: error,
    });
  } finally {
    await client.close();
  }
}

/**
 * Whether an error means that the user already exists. MongoDB reports UserAlreadyExists, or a duplicate key in its index.
 * FerretDB reports this only in the message.
 */
function isThere({ code, message }: { code?: unknown; message: string }): boolean {
  return code === 51003 || code === 11000 || /already exists/i.test(message);
}

const patienceMs = 60_000;

/** Waits until the root user can connect, because a new server listens before its root user exists. */
async function reached(client: MongoClient): Promise<void> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      await client.connect();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
