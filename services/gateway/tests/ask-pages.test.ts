import { getApiKeys, internalSubject } from '@kith/contracts';
import { errorReply, successReply } from '@kith/service';
import { createRuntime, handlerEngines } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { askPages } from '../src/tables/ask-pages.ts';

describe.each(handlerEngines())('pages of a table (%s)', (engine) => {
  /** Asks for a table of three pages. Returns what was asked for, and the number of pages. */
  async function load(fails: (after: string | null, times: number) => boolean) {
    await using runtime = await createRuntime(engine);
    const { bus } = runtime;
    const asked: (string | null)[] = [];
    await bus.serve(internalSubject(bus.prefix, getApiKeys), 'identity', async ({ body }) => {
      const { after } = getApiKeys.body.parse(JSON.parse(new TextDecoder().decode(body)));
      asked.push(after);
      if (fails(after, asked.filter((one) => one === after).length)) return errorReply('gateway/unavailable');
      const next = after === null ? 'a' : after === 'a' ? 'b' : null;
      return successReply(200, { keys: [], next }, {});
    });
    const pages = await askPages(bus, getApiKeys, { requestId: 'test' }).catch((error: unknown) => error);
    return { asked, pages };
  }

  it('asks again for a later page that fails, and not for the pages before it', async () => {
    const { asked, pages } = await load((after, times) => after === 'a' && times < 3);
    expect(asked).toEqual([null, 'a', 'a', 'a', 'b']);
    expect(pages).toHaveLength(3);
  });

  it('fails if the first page fails, or if a later page fails three times', async () => {
    expect(await load(() => true)).toMatchObject({ asked: [null], pages: { code: 'gateway/unavailable' } });
    expect(await load((after) => after === 'b')).toMatchObject({
      asked: [null, 'a', 'b', 'b', 'b'],
      pages: { code: 'gateway/unavailable' },
    });
  });
});
