// Checks the types of all modules, which are in their comments: `node check_types.mjs`.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from './modules.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const packages = join(dirname(load.resolve('typescript/package.json')), '..');
const folder = mkdtempSync(join(tmpdir(), 'phalanx-types-'));
const project = join(folder, 'tsconfig.json');
const types = join(packages, '@types/three');
writeFileSync(
  project,
  JSON.stringify({
    extends: join(here, 'tsconfig.json'),
    compilerOptions: {
      paths: { three: [types], 'three/addons/*': [join(types, 'examples/jsm/*')] },
    },
    include: [join(here, '../*.js'), join(here, '../vendor/*.d.ts')],
  }),
);
const compiler = load.resolve('typescript/package.json').replace('package.json', 'bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '--project', project], {
  stdio: 'inherit',
});
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
