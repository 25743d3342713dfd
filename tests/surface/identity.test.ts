import { describeSurface } from '../support/surface/suite.ts';
import { accounts } from './accounts.ts';
import { crypto } from './crypto.ts';
import { factors } from './factors.ts';
import { mails } from './mails.ts';
import { users } from './users.ts';

describeSurface([accounts, mails, factors, users, crypto]);
