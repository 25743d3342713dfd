import { runServiceMain } from '@kith/service';
import { manifest } from './service.ts';

await runServiceMain(manifest);
