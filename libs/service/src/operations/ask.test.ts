import { codeHeader } from '@kith/bus';
import { internalSubject, noteKeyUses } from '@kith/contracts';
import { createBus } from '@kith/testing';
import { expect, test } from 'vitest';
import { ask } from './ask.ts';

test('an error of a newer service is no success, even if its code is unknown', async () => {
  await using bus = await createBus('embedded');
  await bus.serve(internalSubject(bus.prefix, noteKeyUses), 'identity', async () => ({
    headers: { [codeHeader]: 'api-key/of-tomorrow' },
    body: new TextEncoder().encode('{"code":"api-key/of-tomorrow","error":"No."}'),
  }));
  const asked = ask(bus, noteKeyUses, { uses: [] }, { requestId: 'r', deadline: Date.now() + 10_000 });
  await expect(asked).rejects.toThrow('unknown code api-key/of-tomorrow');
});
