import { describeSurface } from '../support/surface/suite.ts';
import { imports } from './imports.ts';

describeSurface([imports]);
