import { jetstreamManager } from '@nats-io/jetstream';
import { firstConnection, type NatsBusOptions } from './nats-connection.ts';
import { streamNames } from './stream-names.ts';

/** What is found at a NATS server. */
export interface ExaminedNats {
  version: string;
  maxPayload: number;
  /** Whether it asks for credentials. */
  asksWho: boolean;
  /**
   * Streams that are not there. If the streams could not be looked up, `refusal` says why, for example because a right is
   * missing.
   */
  missing: readonly string[];
  refusal: string | undefined;
}

/** Looks at a NATS server and changes nothing. Throws `StartError` when it cannot be reached. */
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
        const there = await manager.streams.info(name).catch((error: Error) => {
          if (/stream not found/i.test(error.message)) return undefined;
          throw error;
        });
        if (!there) missing.push(name);
      }
      return { missing, refusal: undefined };
    } catch (error) {
      return { missing, refusal: (error as Error).message };
    }
  }
}
