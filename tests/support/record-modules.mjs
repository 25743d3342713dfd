// Records the address of every loaded module in the file that KITH_TEST_MODULES names. Node loads this file first, because of
// its option `--import`.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    appendFileSync(process.env.KITH_TEST_MODULES, `${found.url}\n`);
    return found;
  },
});
