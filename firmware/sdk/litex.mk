# The model of this archive as a bare application, by LiteX's own Make files: its compiler, flags,
# start-up code, memory regions and register functions. LiteX must be installed, and the GCC that it
# takes for its BIOS.
#
#   make -f litex.mk     litex.bin, for litex_term and its like
#
# GENERATED=...  software/include/generated of another system's build folder, which LiteX has written
#                with a CFU of this configuration; by default that of this archive's system
# OUT=...        where to build
# EXAMPLE=...    sources of another application

GENERATED ?= generated
include $(GENERATED)/variables.mak
include $(SOC_DIRECTORY)/software/common.mak

root := $(abspath ..)
OUT ?= $(root)/build/litex
EXAMPLE ?= $(root)/example/main.c
library := $(OUT)/libkiwicha.a
sources := $(wildcard $(root)/model/*.c $(root)/runtime/*.c $(root)/kernels/*.c) \
	$(root)/freestanding/memory.c
objects := $(sources:$(root)/%.c=$(OUT)/%.o)

# Without the C library of LiteX: three functions are needed, which lie beside the model. GNU C, for
# the headers of LiteX have asm.
INCLUDES = -I$(SOC_DIRECTORY)/software/include -I$(SOC_DIRECTORY)/software -I$(CPU_DIRECTORY) \
	-I$(GENERATED)/.. -I$(root) -I$(root)/runtime -I$(root)/freestanding
CFLAGS += -std=gnu11 -ffreestanding -ffunction-sections -fdata-sections

.PHONY: all clean

all: $(OUT)/litex.bin

%.bin: %.elf
	$(OBJCOPY) -O binary $< $@

$(OUT)/litex.elf: $(OUT)/crt0.o $(OUT)/litex.o $(EXAMPLE) litex.ld $(library)
	$(CC) $(LDFLAGS) -Wl,--gc-sections -L$(GENERATED)/.. -T litex.ld -N -o $@ \
		$(OUT)/crt0.o $(OUT)/litex.o $(EXAMPLE) $(library) -lgcc

$(library): $(objects)
	@rm -f $@
	$(AR) crs $@ $(objects)

$(OUT)/%.o: $(root)/%.c
	@mkdir -p $(@D)
	$(compile)

$(OUT)/litex.o: litex.c
	@mkdir -p $(@D)
	$(compile)

$(OUT)/crt0.o: $(CPU_DIRECTORY)/crt0.S
	@mkdir -p $(@D)
	$(assemble)

clean:
	rm -rf $(OUT)

-include $(objects:.o=.d)
