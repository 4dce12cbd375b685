// Serves Foxglove Studio as its package has it, on a port of this machine alone, whose address it
// prints. The page connects to the server `?server=HOST:PORT` with the layout that this one offers.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const own = dirname(fileURLToPath(import.meta.url));
const packages = join(process.env.PHALANX_MODULES, 'node_modules');
const FILES = {
  '/': join(own, 'index.html'),
  '/studio.js': join(own, 'studio.js'),
  '/react.js': join(packages, 'react/umd/react.production.min.js'),
  '/react-dom.js': join(packages, 'react-dom/umd/react-dom.production.min.js'),
};
const KINDS = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };

/** Returns the content of an address. */
async function content({ pathname, searchParams }) {
  if (pathname === '/layout.json') {
    const layout = await fetch(`http://${searchParams.get('server')}/foxglove.json`);
    return Buffer.from(await layout.arrayBuffer());
  }
  const inside = normalize(pathname);
  return await readFile(FILES[inside] ?? join(packages, '@foxglove/studio-base', inside));
}

const server = createServer(async (request, response) => {
  const address = new URL(request.url, 'http://127.0.0.1');
  try {
    const bytes = await content(address);
    const kind = KINDS[extname(FILES[address.pathname] ?? address.pathname)];
    response.writeHead(200, { 'content-type': kind ?? 'application/octet-stream' });
    response.end(bytes);
  } catch {
    response.writeHead(404);
    response.end();
  }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
