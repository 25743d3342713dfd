import { type EngineKind, startPlatform } from '@kith/testing';
import { testEffort } from '@kith/testing/effort';
import { describe, expect, it } from 'vitest';
import { described } from './described.ts';
import { sendFromDocument } from './run.ts';

/** Sends requests that are made from the OpenAPI document. Tests that the answers follow the document. */
export function answersAsDocumented(
  engines: readonly EngineKind[],
  { count, timeoutMs }: { count: number; timeoutMs: number },
): void {
  describe.each(engines)('requests that are made from the OpenAPI document (%s)', (engine) => {
    it('all answers follow the document', { timeout: timeoutMs * testEffort() }, async () => {
      await using platform = await startPlatform({ engine, env: { RATE_LIMIT_SCALE: '0' } });
      const { found, answers } = await sendFromDocument(platform, { count: count * testEffort(), seed: 1 });
      expect([...found.values()]).toEqual([]);
      expect([...answers.keys()].toSorted()).toEqual(described.map(({ id }) => id).toSorted());
    });
  });
}
