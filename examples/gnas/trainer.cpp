// The one instantiation of executor and trainer in the program.
#include <gnas/train/trainer.hpp>

template class gnas::CpuExecutor<float>;
template class gnas::BasicTrainer<float>;
