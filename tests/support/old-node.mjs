// Makes the bootstrap believe that it runs on an older Node, on the platform that KITH_TEST_PLATFORM names. Node loads this
// file first, because of its option `--import`.
if (process.argv[1]?.endsWith('bootstrap.mjs')) {
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });
  const { KITH_TEST_PLATFORM: value = process.platform } = process.env;
  Object.defineProperty(process, 'platform', { value });
}
