// Renews `../vendor` from the packages of `package-lock.json`: `npm ci && node renew_vendor.mjs`.
//
// With `--check` nothing is written, and the exit code is 1 where the files differ from those that
// the packages give.

import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { load } from './modules.mjs';

const { build } = load('esbuild');

const packages = dirname(dirname(load.resolve('esbuild/package.json')));
const vendor = new URL('../vendor/', import.meta.url);

/** One module with all that the page uses of three.js; what is not named is left out. */
const entry = `
export * from 'three';
export { OrbitControls } from 'three/addons/controls/OrbitControls.js';
export { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
`;

async function bundle() {
  const result = await build({
    stdin: { contents: entry, resolveDir: packages },
    bundle: true,
    format: 'esm',
    legalComments: 'inline',
    minify: true,
    target: 'es2022',
    write: false,
  });
  return result.outputFiles[0].contents;
}

async function main() {
  const lock = JSON.parse(await readFile(new URL('package-lock.json', import.meta.url), 'utf8'));
  const three = lock.packages['node_modules/three'];
  const esbuild = lock.packages['node_modules/esbuild'];
  const licence = await readFile(`${packages}/three/LICENSE`);
  const readme = `# Files of others

| file | package | licence |
|---|---|---|
| \`three.module.min.js\` | npm \`three\` ${three.version} | MIT, \`three.LICENSE\` |

The module has all of three.js and its addons OrbitControls and GLTFLoader, bundled by esbuild
${esbuild.version}.

| package | integrity on npm |
|---|---|
| \`three\` ${three.version} | \`${three.integrity}\` |
| \`esbuild\` ${esbuild.version} | \`${esbuild.integrity}\` |

\`npm ci && npm run renew\` in \`../test\` writes this folder again, \`npm run renew -- --check\`
compares it; a new version is a new number in \`../test/package.json\` and \`npm install\`.
`;
  const files = {
    'three.module.min.js': await bundle(),
    'three.LICENSE': licence,
    'README.md': Buffer.from(readme),
  };
  const isCheck = process.argv.includes('--check');
  for (const [name, bytes] of Object.entries(files)) {
    const url = new URL(name, vendor);
    if (!isCheck) {
      await writeFile(url, bytes);
      continue;
    }
    const kept = await readFile(url).catch(() => Buffer.alloc(0));
    if (!kept.equals(Buffer.from(bytes))) {
      console.error(`vendor/${name} differs from what the packages give: npm run renew`);
      process.exitCode = 1;
    }
  }
}

await main();
