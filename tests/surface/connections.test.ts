import { describeSurface } from '../support/surface/suite.ts';
import { blocks } from './blocks.ts';
import { connectionLists } from './connection-lists.ts';
import { connections } from './connections.ts';
import { shortForms } from './short-forms.ts';
import { userSettings } from './user-settings.ts';

describeSurface([connections, connectionLists, blocks, shortForms, userSettings]);
