// Prints the path of the Node that tools/node/package-lock.json names, after installing it.
import { pinnedNode } from './node.mjs';

process.stdout.write(await pinnedNode());
