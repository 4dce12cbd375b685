// Packages of npm: those beside this file, or in the folder that `PHALANX_MODULES` names.

import { createRequire } from 'node:module';

const folder = process.env.PHALANX_MODULES;

/** Returns a package. */
export const load = createRequire(folder ? `${folder}/package.json` : import.meta.url);
