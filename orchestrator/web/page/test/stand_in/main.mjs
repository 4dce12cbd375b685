// Serves the page with a generated world: `node stand_in/main.mjs [crowd|fifty|shapes] [PORT]`.

import { StandIn } from './server.mjs';
import { crowd, shapes } from './worlds.mjs';

const worlds = { crowd: () => crowd(1000), fifty: () => crowd(50), shapes };
const name = process.argv[2] ?? 'crowd';
const make = worlds[name];
if (!make) {
  console.error(`there is no world ${name}; there are ${Object.keys(worlds).join(', ')}`);
  process.exit(2);
}
const address = await new StandIn(make()).listen(Number(process.argv[3] ?? 8799));
console.log(address);
