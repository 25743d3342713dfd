import { describeSurface } from '../support/surface/suite.ts';
import { accounts } from './accounts.ts';
import { crypto } from './crypto.ts';
import { users } from './users.ts';

describeSurface([accounts, users, crypto]);
