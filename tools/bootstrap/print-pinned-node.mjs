// Installs the Node that tools/node/package-lock.json names, and prints its path.
import { pinnedNode } from './node.mjs';

process.stdout.write(await pinnedNode());
