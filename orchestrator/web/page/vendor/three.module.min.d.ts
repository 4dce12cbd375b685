// Types for the editor and the type check; the module itself is written by ../test/renew_vendor.mjs.
export * from 'three';
export { OrbitControls } from 'three/addons/controls/OrbitControls.js';
export { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
