// Starts at most 1 platform and 7 processes.
import { describeSurface } from '../support/surface/suite.ts';
import { audit } from './audit.ts';
import { operatorKeys } from './operator-keys.ts';
import { operators } from './operators.ts';
import { projects } from './projects.ts';
import { serverKeys } from './server-keys.ts';
import { sessions } from './sessions.ts';

// These suites have a platform of their own. They list all projects, copy the profiles of all users, and rotate the keys.
describeSurface([projects, sessions, operators, operatorKeys, serverKeys, audit], { isOwn: true });
