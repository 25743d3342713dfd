import { describeSurface } from '../support/surface/suite.ts';
import { accounts } from './accounts.ts';
import { crypto } from './crypto.ts';
import { operators } from './operators.ts';
import { projects } from './projects.ts';
import { sessions } from './sessions.ts';
import { users } from './users.ts';

describeSurface([projects, accounts, sessions, users, operators, crypto]);
