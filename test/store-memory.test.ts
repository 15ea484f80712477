import { exerciseStore } from '../src/testing/contract/index.ts';
import { effort } from './effort.ts';
import { openTestMemory } from './kit/memory.ts';

exerciseStore('memory', openTestMemory, effort);
