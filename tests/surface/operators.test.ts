// Starts at most 2 platforms and 7 processes.
import { describeSurface } from '../support/surface/suite.ts';
import { audit } from './audit.ts';
import { operatorKeys } from './operator-keys.ts';
import { operators } from './operators.ts';
import { projects } from './projects.ts';
import { serverKeys } from './server-keys.ts';
import { sessions } from './sessions.ts';

// On a platform of its own: it lists all projects, copies the profiles of all users, and rotates the keys.
describeSurface([projects, sessions, operators, operatorKeys, serverKeys, audit], { isOwn: true });
