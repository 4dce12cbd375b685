// Serves the page of this folder with the data of a real server, so that a change of the page needs
// no build: `node stand_in/proxy.mjs http://127.0.0.1:8765/ [PORT]`.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { load } from '../modules.mjs';

const { WebSocket, WebSocketServer } = load('ws');

const PAGE = new URL('../../', import.meta.url);
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const PROTOCOL = 'foxglove.sdk.v1';
const PROTOCOLS = [PROTOCOL, 'phalanx.all-channels'];

const [upstream, port = '8799'] = process.argv.slice(2);
if (!upstream) {
  console.error(
    'give the address of a server: node stand_in/proxy.mjs http://127.0.0.1:8765/ [PORT]',
  );
  process.exit(2);
}

const http = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://proxy');
  const isPage = pathname === '/' || pathname.startsWith('/page/');
  try {
    if (isPage) {
      const name = pathname === '/' ? 'index.html' : pathname.slice('/page/'.length);
      response.writeHead(200, {
        'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
      });
      response.end(await readFile(new URL(name, PAGE)));
      return;
    }
    const { authorization } = request.headers;
    const answer = await fetch(new URL(pathname, upstream), {
      headers: authorization ? { authorization } : {},
    });
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  } catch (error) {
    response.writeHead(502).end(String(error));
  }
});

new WebSocketServer({ server: http, handleProtocols: () => PROTOCOL }).on(
  'connection',
  (client, request) => {
    const { search } = new URL(request.url, 'http://proxy');
    const server = new WebSocket(
      new URL(`/${search}`, upstream).href.replace(/^http/, 'ws'),
      PROTOCOLS,
    );
    const waiting = [];
    client.on('message', (data, isBinary) => {
      if (server.readyState === WebSocket.OPEN) server.send(data, { binary: isBinary });
      else waiting.push([data, isBinary]);
    });
    server.on('open', () =>
      waiting.forEach(([data, isBinary]) => server.send(data, { binary: isBinary })),
    );
    server.on('message', (data, isBinary) => client.send(data, { binary: isBinary }));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      one.on('close', () => other.close());
      one.on('error', () => other.close());
    }
  },
);

http.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`));
