import { describeSurface } from '../support/surface/suite.ts';
import { collections } from './collections.ts';
import { entities } from './entities.ts';
import { notifications } from './notifications.ts';

describeSurface([collections, entities, notifications]);
