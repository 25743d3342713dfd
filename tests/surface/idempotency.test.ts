import { describeSurface } from '../support/surface/suite.ts';
import { idempotency } from './idempotency.ts';

describeSurface([idempotency]);
