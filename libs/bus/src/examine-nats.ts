import { jetstreamManager } from '@nats-io/jetstream';
import { firstConnection, type NatsBusOptions } from './nats-connection.ts';
import { ifThere, streamNotFound } from './nats-durables.ts';
import { streamNames } from './stream-names.ts';

/** What an examination of a NATS server finds. */
export interface ExaminedNats {
  version: string;
  maxPayload: number;
  /** Whether the server requires credentials. */
  asksWho: boolean;
  /**
   * Streams that do not exist. If the streams could not be looked up, `refusal` gives the reason, for example a missing
   * permission.
   */
  missing: readonly string[];
  refusal: string | undefined;
}

/** Examines a NATS server without changing anything. Throws `StartError` if the server cannot be reached. */
export async function examineNats(options: NatsBusOptions): Promise<ExaminedNats> {
  const connection = await firstConnection(options);
  try {
    const { info } = connection;
    const { missing, refusal } = await streamsOf();
    return {
      version: info?.version ?? '',
      maxPayload: info?.max_payload ?? 0,
      asksWho: info?.auth_required ?? false,
      missing,
      refusal,
    };
  } finally {
    await connection.close();
  }

  async function streamsOf(): Promise<Pick<ExaminedNats, 'missing' | 'refusal'>> {
    const missing: string[] = [];
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 2_000 });
      for (const name of Object.values(streamNames(options.prefix))) {
        if (!(await ifThere(manager.streams.info(name), streamNotFound))) missing.push(name);
      }
      return { missing, refusal: undefined };
    } catch (error) {
      return { missing, refusal: (error as Error).message };
    }
  }
}
